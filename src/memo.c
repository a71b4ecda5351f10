/*
 * memo.c
 *		What a session remembers of namespaces, until it changes.
 *
 * Promises: what was looked up before something was forgotten is not remembered
 * after it, however they interleave: who looks up notes "forgotten" first and
 * hands it to memo_keep().  It takes bounded memory: past so many entries all
 * are forgotten together.
 *
 * When to forget is the caller's business (privilege.c, policy.c).
 */
#include "lease.h"

#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "memo.h"

/* Nobody works in so many namespaces, under so many roles. */
#define ENTRIES_MAX 256

/* Without padding, since it is hashed as it is. */
typedef struct MemoKey
{
	Oid			role;			/* or invalid */
	char		namespace[LEASE_NAMESPACE_MAX + 1];
} MemoKey;

/* A namespace's name is never longer than that in a row; false where it is. */
static bool
make_key(Oid role, const text *namespace, MemoKey *key)
{
	if (VARSIZE_ANY_EXHDR(namespace) > LEASE_NAMESPACE_MAX)
		return false;
	memset(key, 0, sizeof(MemoKey));
	key->role = role;
	memcpy(key->namespace, VARDATA_ANY(namespace), VARSIZE_ANY_EXHDR(namespace));
	return true;
}

/* What is remembered, good until something is forgotten; or NULL. */
const void *
memo_find(const Memo *memo, Oid role, const text *namespace)
{
	MemoKey		key;
	char	   *entry;

	if (memo->table == NULL || !make_key(role, namespace, &key))
		return NULL;
	entry = hash_search(memo->table, &key, HASH_FIND, NULL);
	return entry == NULL ? NULL : entry + MAXALIGN(sizeof(MemoKey));
}

/* Remember a copy of what was looked up when so much had been forgotten. */
void
memo_keep(Memo *memo, uint64 forgotten, Oid role, const text *namespace,
		  const void *value)
{
	MemoKey		key;
	char	   *entry;

	if (forgotten != memo->forgotten || !make_key(role, namespace, &key))
		return;
	if (memo->table != NULL && hash_get_num_entries(memo->table) >= ENTRIES_MAX)
		memo_forget(memo);
	if (memo->table == NULL)
	{
		HASHCTL		control = {
			.keysize = sizeof(MemoKey),
			.entrysize = MAXALIGN(sizeof(MemoKey)) + memo->size,
			.hcxt = TopMemoryContext
		};

		memo->table = hash_create(memo->name, 16, &control,
								  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	entry = hash_search(memo->table, &key, HASH_ENTER, NULL);
	memcpy(entry + MAXALIGN(sizeof(MemoKey)), value, memo->size);
}

void
memo_forget(Memo *memo)
{
	memo->forgotten++;
	if (memo->table != NULL)
		hash_destroy(memo->table);
	memo->table = NULL;
}
