/*
 * proof.h
 *		Proves that a token may be written under.
 */
#ifndef LEASE_PROOF_H
#define LEASE_PROOF_H

#include "lease.h"

#include "error.h"
#include "protocol.h"
#include "token.h"

/* Against what a token is judged. */
typedef enum ProofMode
{
	PROOF_CURRENT,				/* the current epoch's */
	PROOF_HIGH_WATER,			/* not below the resource's mark */
	PROOF_BOTH
} ProofMode;

extern bool proof_call(Token **token, int64 patience, LeaseCall *call,
					   LeaseAnswer *answer, Refused *refused);
extern bool proof_conceals(const LeaseKey *key);
extern bool proof_holds(const Token *token, ProofMode mode);
extern bool proof_may_enter(const Token *token);
extern bool proof_token(Token **token, ProofMode mode, int64 patience,
						Refused *refused);

#endif							/* LEASE_PROOF_H */
