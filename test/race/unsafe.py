"""The unsafe SQL.  It is here so that the hazard can be seen, and nowhere else.

Both statements address a lease by its id alone, as published lock and job
libraries did: whoever holds the lease by now, the write goes through.  They
work on the extension's own table, which no user of the extension may rely on
and no role but its owner can write.
"""

NOW = "to_timestamp(current_setting('lease.clock')::float8)"


def blind_heartbeat(session, copy):
    """Write the copy that the owner keeps since its grant back over the row,
    with a later expiry, as an object mapper does.  How many rows it hit."""
    return session.connection.execute(
        "UPDATE lease_catalog.lease SET owner = %(owner)s, fence = %(fence)s,"
        " version = %(version)s + 1, granted_at = to_timestamp(%(server_time)s),"
        f" renewed_at = {NOW}, expires_at = {NOW} + make_interval(secs => %(ttl)s),"
        " ttl = make_interval(secs => %(ttl)s)"
        " WHERE namespace = 'default' AND name = %(name)s", copy).rowcount


def renew_by_id(session, name):
    """Push the expiry, trusting a check made earlier.  How many rows it hit."""
    return session.connection.execute(
        "UPDATE lease_catalog.lease SET version = version + 1,"
        f" renewed_at = {NOW}, expires_at = {NOW} + ttl"
        " WHERE namespace = 'default' AND name = %s", (name,)).rowcount
