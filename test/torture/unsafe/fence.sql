-- The fence is kept in its row alone: who removes the row forgets it.
ALTER TABLE lease_catalog.lease DISABLE TRIGGER keep_floor;
ALTER TABLE lease_catalog.lease DISABLE TRIGGER keep_floor_truncate;
