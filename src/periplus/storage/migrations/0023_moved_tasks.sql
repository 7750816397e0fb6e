-- Tasks are named by their function. Those that build segments lie in another module now, so rows under their old name
-- would never be asked for again: what is due is done under the new one.
DELETE FROM tasks WHERE kind LIKE 'periplus.index.segment_tasks%';
