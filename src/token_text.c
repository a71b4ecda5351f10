/*
 * token_text.c
 *		The text form of a token: namespace/name/owner/fence.
 *
 * Promises: what token_text_make() writes has no space and no quote in it, so
 * that it can be put into a setting, a header or a command line as it is; what
 * token_text_next() takes apart is what was put in, byte for byte.  Bytes other
 * than letters, digits and -._~ are written as % and two hexadecimal digits.
 *
 * Nothing here throws, so that the check of a setting can call it.  Whether the
 * texts are names, and in which encoding, is the caller's business.
 */
#include "lease.h"

#include "lib/stringinfo.h"

#include "token_text.h"

static bool
is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		(c >= '0' && c <= '9') || (c != '\0' && strchr("-._~", c) != NULL);
}

static void
append_field(StringInfo text, const char *field)
{
	for (; *field != '\0'; field++)
	{
		if (is_plain(*field))
			appendStringInfoChar(text, *field);
		else
			appendStringInfo(text, "%%%02X", (unsigned char) *field);
	}
}

/* The text of a token, in the current memory context. */
char *
token_text_make(const char *namespace, const char *name, const char *owner,
				int64 fence)
{
	StringInfoData text;

	initStringInfo(&text);
	append_field(&text, namespace);
	appendStringInfoChar(&text, '/');
	append_field(&text, name);
	appendStringInfoChar(&text, '/');
	append_field(&text, owner);
	appendStringInfo(&text, "/" INT64_FORMAT, fence);
	return text.data;
}

static int
hexadecimal(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/*
 * Read a field and the '/' after it.  False where it is empty, longer than
 * "room", or not written as it ought to be.
 */
static bool
read_field(const char **cursor, char *field, int room)
{
	const char *c = *cursor;
	int			len = 0;

	for (; *c != '/'; c++)
	{
		char		byte = *c;

		if (byte == '%')
		{
			int			high = hexadecimal(c[1]);
			int			low = high < 0 ? -1 : hexadecimal(c[2]);

			if (low < 0)
				return false;
			byte = (char) (high * 16 + low);
			c += 2;
		}
		else if (!is_plain(byte))
			return false;
		if (byte == '\0' || len == room)
			return false;
		field[len++] = byte;
	}
	field[len] = '\0';
	*cursor = c + 1;
	return len > 0;
}

/* Decimal digits alone, without a sign, up to a space or the end. */
static bool
read_fence(const char **cursor, int64 *fence)
{
	const char *c = *cursor;
	int64		value = 0;

	for (; *c != '\0' && *c != ' '; c++)
	{
		int			digit = *c - '0';

		if (digit < 0 || digit > 9 || value > (PG_INT64_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	if (c == *cursor)
		return false;
	*fence = value;
	*cursor = c;
	return true;
}

/*
 * Take the next token off a list that is separated by spaces; false at its
 * end.  *valid tells whether it could be read, and where not, nor can what
 * follows.
 */
bool
token_text_next(const char **cursor, TokenText *token, bool *valid)
{
	while (**cursor == ' ')
		(*cursor)++;
	if (**cursor == '\0')
		return false;
	*valid = read_field(cursor, token->namespace, TOKEN_TEXT_NAMESPACE) &&
		read_field(cursor, token->name, TOKEN_TEXT_NAME) &&
		read_field(cursor, token->owner, TOKEN_TEXT_OWNER) &&
		read_fence(cursor, &token->fence);
	return true;
}
