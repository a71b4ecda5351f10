/*
 * marks.h
 *		High-water marks: the highest fence that a resource has accepted.
 */
#ifndef LEASE_MARKS_H
#define LEASE_MARKS_H

#include "lease.h"

typedef enum MarkAnswer
{
	MARK_ADMITTED,
	MARK_BELOW,					/* the mark is higher */
	MARK_BUSY					/* another fence's writers are in */
} MarkAnswer;

extern int64 marks_read(const LeaseKey *resource);
extern MarkAnswer marks_raise(const LeaseKey *resource, int64 fence, int64 patience,
							  int64 *mark);
extern MarkAnswer marks_enter(const LeaseKey *resource, int64 fence, int64 patience,
							  int64 *mark);
extern bool marks_reset(const LeaseKey *resource, int64 fence, int64 *former);

#endif							/* LEASE_MARKS_H */
