-- lease_outcomes() lists every word that each verb can answer with.
CREATE EXTENSION lease;
SELECT verb, outcome, ok FROM lease_outcomes() ORDER BY verb COLLATE "C", outcome COLLATE "C";

-- Each once, each with sentences that say what it means and what to do.
SELECT verb, outcome, count(*) FROM lease_outcomes() GROUP BY verb, outcome HAVING count(*) > 1;
SELECT verb, outcome, meaning, advice FROM lease_outcomes()
	WHERE (meaning ~ '^[A-Z].*\.$' AND advice ~ '^[A-Z].*\.$') IS NOT TRUE;

-- It needs no privilege and no lease.
CREATE ROLE regress_lease_stranger;
SET ROLE regress_lease_stranger;
SELECT count(*) > 0 AS listed FROM lease_outcomes();
RESET ROLE;
DROP ROLE regress_lease_stranger;

DROP EXTENSION lease;
