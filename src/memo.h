/*
 * memo.h
 *		What a session remembers of namespaces, until it changes.
 */
#ifndef LEASE_MEMO_H
#define LEASE_MEMO_H

#include "lease.h"

#include "utils/hsearch.h"

typedef struct Memo
{
	const char *name;
	Size		size;			/* of what is remembered of each */
	HTAB	   *table;
	uint64		forgotten;		/* how often */
} Memo;

extern const void *memo_find(const Memo *memo, Oid role, const text *namespace);
extern void memo_keep(Memo *memo, uint64 forgotten, Oid role,
					  const text *namespace, const void *value);
extern void memo_forget(Memo *memo);

#endif							/* LEASE_MEMO_H */
