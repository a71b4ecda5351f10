-- The renewal of all leases of one worker.
SELECT * FROM lease_renew_many(:names, 'worker', :fences);
