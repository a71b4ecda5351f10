/*
 * token.h
 *		The tokens of a transaction.
 */
#ifndef LEASE_TOKEN_H
#define LEASE_TOKEN_H

#include "lease.h"

#include "lib/ilist.h"

#include "token_text.h"

/* What is known of one lease's token, in one subtransaction. */
typedef struct Token
{
	dlist_node	node;			/* among all, the newest first */
	struct TokenName *name;
	struct Token *older;		/* of the same name */
	uint64		id;				/* another where what was known is forgotten */
	LeaseKey	key;
	RuleText	owner;
	int64		fence;
	Oid			role;			/* for whom it is judged */
	bool		presented;		/* else it is lease.token's */
	uint64		setting;		/* and that was then in this state */
	bool		proved;			/* current, and the lock that keeps it so is
								 * held */
	bool		marked;			/* not below the high-water mark, which has it */
	bool		entered;		/* and other fences are kept out of the
								 * resource */
	int			level;			/* of the subtransaction that knows it */
} Token;

extern void token_init(void);
extern Token *token_present(const LeaseKey *key, RuleText owner, int64 fence,
							Oid role);
extern Token *token_find(const LeaseKey *key, const char **fault);
extern Token *token_own(Token *token);
extern void token_forget(const LeaseKey *key);
extern void token_forget_namespace(const text *namespace);
extern const char *token_decode(const TokenText *written, LeaseKey *key,
								RuleText *owner);

#endif							/* LEASE_TOKEN_H */
