-- A task's life, a verb at a time: one is offered, the next one that is due is
-- taken, and that is completed.
\set step (:step + 1) % 3
\if :step = 1
SELECT lease_offer(nextval('yardstick.task')::text, '{"customer": 4711}');
\elif :step = 2
SELECT name, fence, payload FROM lease_poll('poller') \gset
\else
SELECT lease_complete(:name, 'poller', :fence);
\endif
