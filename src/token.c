/*
 * token.c
 *		The tokens of a transaction, and what has been found out about them.
 *
 * Promises: what is known belongs to the subtransaction that found it out,
 * since the lock that keeps it true does too: a savepoint that is rolled back
 * takes its knowledge with it, and brings back what was known before.  A token
 * that was presented goes before one of lease.token; the last presented of a
 * name replaces the one before.  Nothing is left when the transaction ends.
 *
 * It is a stack: the newest entry of a name counts, an entry is changed in
 * the subtransaction that made it and copied by an inner one.  A table finds
 * it, for a transaction may work under thousands.  Memory is the
 * transaction's.
 *
 * Not here: whether a token is any good (proof.c, marks.c).
 */
#include "lease.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "common/hashfn.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "arguments.h"
#include "error.h"
#include "settings.h"
#include "token.h"

/* A name that has had a token in this transaction. */
typedef struct TokenName
{
	LeaseKey	key;
	Token	   *newest;			/* or NULL */
} TokenName;

static dlist_head stack = DLIST_STATIC_INIT(stack);
static HTAB *names = NULL;

static uint64 last_id = 0;

/* What was found last, for the rows of one lease come together. */
static Token *last_found = NULL;

static bool
text_equal(const text *a, const text *b)
{
	return VARSIZE_ANY_EXHDR(a) == VARSIZE_ANY_EXHDR(b) &&
		memcmp(VARDATA_ANY(a), VARDATA_ANY(b), VARSIZE_ANY_EXHDR(a)) == 0;
}

static bool
key_equal(const LeaseKey *a, const LeaseKey *b)
{
	return text_equal(a->name, b->name) && text_equal(a->namespace, b->namespace);
}

static uint32
hash_key(const void *key, Size size)
{
	const LeaseKey *lease = key;

	(void) size;
	return hash_combine(hash_bytes((const unsigned char *) VARDATA_ANY(lease->namespace),
								   VARSIZE_ANY_EXHDR(lease->namespace)),
						hash_bytes((const unsigned char *) VARDATA_ANY(lease->name),
								   VARSIZE_ANY_EXHDR(lease->name)));
}

static int
differ(const void *a, const void *b, Size size)
{
	(void) size;
	return key_equal(a, b) ? 0 : 1;
}

static TokenName *
find_name(const LeaseKey *key)
{
	return names == NULL ? NULL : hash_search(names, key, HASH_FIND, NULL);
}

static Token *
find(const LeaseKey *key)
{
	TokenName  *name = find_name(key);

	return name == NULL ? NULL : name->newest;
}

static text *
copy_text(const text *value)
{
	return cstring_to_text_with_len(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));
}

static TokenName *
find_or_enter_name(const LeaseKey *key)
{
	TokenName  *name = find_name(key);
	LeaseKey	copy;

	if (name != NULL)
		return name;
	if (names == NULL)
	{
		HASHCTL		control = {
			.keysize = sizeof(LeaseKey),
			.entrysize = sizeof(TokenName),
			.hash = hash_key,
			.match = differ,
			.hcxt = CurrentMemoryContext
		};

		names = hash_create("lease tokens", 16, &control,
							HASH_ELEM | HASH_FUNCTION | HASH_COMPARE | HASH_CONTEXT);
	}
	copy.namespace = copy_text(key->namespace);
	copy.name = copy_text(key->name);
	name = hash_search(names, &copy, HASH_ENTER, NULL);
	name->newest = NULL;
	return name;
}

/* Put an entry on top, which keeps nothing of what it is given. */
static Token *
push(const Token *template)
{
	MemoryContext caller = MemoryContextSwitchTo(TopTransactionContext);
	TokenName  *name = find_or_enter_name(&template->key);
	Token	   *token = palloc(sizeof(Token));

	*token = *template;
	token->key = name->key;
	token->owner.data = pnstrdup(template->owner.data, template->owner.len);
	token->level = GetCurrentTransactionNestLevel();
	token->name = name;
	token->older = name->newest;
	name->newest = token;
	dlist_push_head(&stack, &token->node);
	last_found = NULL;
	MemoryContextSwitchTo(caller);
	return token;
}

static void
discard(Token *token)
{
	dlist_delete(&token->node);
	pfree((char *) token->owner.data);
	pfree(token);
}

/* Take an inner entry's place at the level that it has now. */
static void
drop_shadowed(Token *token)
{
	Token	   *older = token->older;

	if (older == NULL || older->level != token->level)
		return;
	token->older = older->older;
	discard(older);
}

/*
 * The entry to be changed in the present subtransaction: the token's own, or a
 * copy where it is an outer one's.
 */
Token *
token_own(Token *token)
{
	return token->level == GetCurrentTransactionNestLevel() ? token : push(token);
}

/* Present a token, about which nothing is known yet. */
Token *
token_present(const LeaseKey *key, RuleText owner, int64 fence, Oid role)
{
	Token		template = {
		.id = ++last_id,
		.key = *key,
		.owner = owner,
		.fence = fence,
		.role = role,
		.presented = true
	};
	Token	   *token = push(&template);

	drop_shadowed(token);
	return token;
}

/* A field of a token's text in the server's encoding, or NULL. */
static char *
server_field(const char *field)
{
	int			encoding = GetDatabaseEncoding();
	int			len = strlen(field);
	int			size = len * MAX_CONVERSION_GROWTH + 1;
	char	   *converted;
	Oid			conversion;

	if (!pg_verify_mbstr(PG_UTF8, field, len, true))
		return NULL;
	if (encoding == PG_UTF8 || encoding == PG_SQL_ASCII)
		return pstrdup(field);
	conversion = FindDefaultConversionProc(PG_UTF8, encoding);
	if (!OidIsValid(conversion))
		return NULL;
	converted = palloc(size);
	return pg_do_encoding_conversion_buf(conversion, PG_UTF8, encoding,
										 (unsigned char *) field, len,
										 (unsigned char *) converted, size, true) == len ?
		converted : NULL;
}

/* Decode a field, or answer what is wrong with it. */
static const char *
server_text(const char *field, int max, text **value)
{
	char	   *converted = server_field(field);

	if (converted == NULL)
		return "It must be UTF-8, and have a form in the database's encoding.";
	*value = cstring_to_text(converted);
	return arguments_fault(*value, max);
}

/*
 * Decode a token's text.  Answers what is wrong with it where it names nothing,
 * and else NULL.
 */
const char *
token_decode(const TokenText *written, LeaseKey *key, RuleText *owner)
{
	text	   *owner_text;
	const char *fault = server_text(written->namespace, LEASE_NAMESPACE_MAX, &key->namespace);

	if (fault == NULL)
		fault = server_text(written->name, LEASE_NAME_MAX, &key->name);
	if (fault == NULL)
		fault = server_text(written->owner, LEASE_OWNER_MAX, &owner_text);
	if (fault == NULL)
		*owner = lease_text(owner_text);
	return fault;
}

/* The token of a name in lease.token, put on top. */
static Token *
find_in_setting(const LeaseKey *key, const char **fault)
{
	const char *cursor = settings_token;
	TokenText	written;
	bool		valid;

	while (token_text_next(&cursor, &written, &valid) && valid)
	{
		Token		template = {
			.id = ++last_id,
			.fence = written.fence,
			.role = GetOuterUserId(),
			.setting = settings_token_changes
		};

		*fault = token_decode(&written, &template.key, &template.owner);
		if (*fault != NULL)
			return NULL;
		if (key_equal(&template.key, key))
			return push(&template);
	}
	return NULL;
}

/* A token of lease.token counts for the role and the value that it had. */
static bool
is_valid(const Token *token)
{
	return token->presented ||
		(token->setting == settings_token_changes &&
		 token->role == GetOuterUserId());
}

/*
 * The token of a name, or NULL where there is none, or none that could be told:
 * *fault is then what is wrong with one before it in lease.token.
 */
Token *
token_find(const LeaseKey *key, const char **fault)
{
	Token	   *token = last_found;

	if (token == NULL || !key_equal(&token->key, key))
		token = find(key);
	if (token == NULL || !is_valid(token))
	{
		token = find_in_setting(key, fault);
		if (token != NULL)
			drop_shadowed(token);
	}
	last_found = token;
	return token;
}

static void
forget(Token *token)
{
	token = token_own(token);
	token->id = ++last_id;
	token->proved = false;
	token->marked = false;
	token->entered = false;
}

/*
 * Forget what is known of a token whose epoch this transaction ends, stops or
 * follows, or whose resource's mark it moves: it has to prove itself anew.
 */
void
token_forget(const LeaseKey *key)
{
	Token	   *token = find(key);

	if (token != NULL)
		forget(token);
}

/* The same for all tokens of a namespace that is stopped. */
void
token_forget_namespace(const text *namespace)
{
	dlist_iter	each;

	dlist_foreach(each, &stack)
	{
		Token	   *token = dlist_container(Token, node, each.cur);

		if (text_equal(token->key.namespace, namespace) && token->name->newest == token)
			forget(token);
	}
}

static void
at_transaction_event(XactEvent event, void *arg)
{
	(void) arg;
	switch (event)
	{
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:
			/* the memory goes with the transaction */
			dlist_init(&stack);
			names = NULL;
			last_found = NULL;
			break;
		default:
			break;
	}
}

/* Hand the knowledge of a subtransaction that ends well to its parent. */
static void
hand_over(int level)
{
	dlist_iter	each;

	dlist_foreach(each, &stack)
	{
		Token	   *token = dlist_container(Token, node, each.cur);

		if (token->level < level)
			break;
		token->level = level - 1;
		drop_shadowed(token);
	}
}

static void
roll_back(int level)
{
	while (!dlist_is_empty(&stack))
	{
		Token	   *token = dlist_head_element(Token, node, &stack);

		if (token->level < level)
			break;
		token->name->newest = token->older;
		discard(token);
	}
}

static void
at_subtransaction_event(SubXactEvent event, SubTransactionId mine,
						SubTransactionId parent, void *arg)
{
	int			level = GetCurrentTransactionNestLevel();

	(void) mine;
	(void) parent;
	(void) arg;
	if (event == SUBXACT_EVENT_COMMIT_SUB)
		hand_over(level);
	else if (event == SUBXACT_EVENT_ABORT_SUB)
		roll_back(level);
	else
		return;
	last_found = NULL;
}

void
token_init(void)
{
	RegisterXactCallback(at_transaction_event, NULL);
	RegisterSubXactCallback(at_subtransaction_event, NULL);
}
