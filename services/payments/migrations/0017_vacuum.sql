-- Each payment leaves a dead row and dead index entries when it ends, and what asks for unfinished payments passes those until they are
-- removed. Vacuum's usual share, a fifth of all rows, lets more and more of them wait as the table grows.
-- Vacuum also leaves the entries when they are on few of a table's pages, which in a large one they always are: not here.
alter table payment set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 20000, vacuum_index_cleanup = on,
                         autovacuum_analyze_scale_factor = 0.02);
alter table transfer set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 20000, vacuum_index_cleanup = on,
                          autovacuum_analyze_scale_factor = 0.02);
