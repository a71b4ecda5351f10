/*
 * outcomes.h
 *		How verbs, outcomes and ends are spelt, and what each outcome means.
 */
#ifndef LEASE_OUTCOMES_H
#define LEASE_OUTCOMES_H

#include "rules.h"

/* One line of the list of outcomes. */
typedef struct OutcomeInfo
{
	LeaseVerb	verb;
	LeaseOutcome outcome;
	const char *meaning;
	const char *advice;
} OutcomeInfo;

extern const OutcomeInfo outcomes_list[];
extern const int outcomes_count;

extern const char *outcomes_verb_name(LeaseVerb verb);
extern const char *outcomes_name(LeaseOutcome outcome);
extern bool outcomes_ok(LeaseVerb verb, LeaseOutcome outcome);
extern const char *outcomes_end_name(LeaseEnd end);
extern bool outcomes_end_from_name(RuleText name, LeaseEnd *end);
extern const char *outcomes_task_name(TaskState task);
extern bool outcomes_task_from_name(RuleText name, TaskState *task);

#endif							/* LEASE_OUTCOMES_H */
