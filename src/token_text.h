/*
 * token_text.h
 *		The text form of a token.
 */
#ifndef LEASE_TOKEN_TEXT_H
#define LEASE_TOKEN_TEXT_H

#include "lease.h"

/* UTF-8 may need four bytes for one of the server's encoding. */
#define TOKEN_TEXT_NAMESPACE (4 * LEASE_NAMESPACE_MAX)
#define TOKEN_TEXT_NAME (4 * LEASE_NAME_MAX)
#define TOKEN_TEXT_OWNER (4 * LEASE_OWNER_MAX)

/* A token as it was written; its texts are UTF-8 and end with a zero byte. */
typedef struct TokenText
{
	char		namespace[TOKEN_TEXT_NAMESPACE + 1];
	char		name[TOKEN_TEXT_NAME + 1];
	char		owner[TOKEN_TEXT_OWNER + 1];
	int64		fence;
} TokenText;

extern bool token_text_next(const char **cursor, TokenText *token, bool *valid);
extern char *token_text_make(const char *namespace, const char *name,
							 const char *owner, int64 fence);

#endif							/* LEASE_TOKEN_TEXT_H */
