-- Whether any endpoint has ever named a final block of this network. From then on only a named block moves finality: a node that names
-- none has just been started, or is late, and no depth stands in for its word.
alter table cursor add column has_named_final boolean not null default false;
