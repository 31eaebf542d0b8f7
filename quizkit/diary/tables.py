"""The tables of the file, version by version."""

# One entry for each version of the file; what has been released is never edited.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """create table answers (
            id integer primary key,
            uuid text not null unique,
            device text not null,
            at integer not null,
            session text not null,
            mode text not null check (mode in ('study', 'mock')),
            question text not null,
            lang text not null,
            seed integer not null,
            given text not null,
            score real,
            right integer check (right in (0, 1)),
            grade integer check (grade between 1 and 4),
            hints integer not null,
            seconds real not null,
            sure integer check (sure in (0, 1)),
            undoes text,
            bank_hash text not null,
            note text not null
        ) strict""",
        "create index answers_question on answers (question)",
        "create index answers_undoes on answers (undoes) where undoes is not null",
        """create trigger answers_stay before delete on answers
        begin select raise(abort, 'answers are never deleted'); end""",
        """create trigger answers_are_final before update on answers
        begin select raise(abort, 'answers are never changed'); end""",
        """create table events (
            id integer primary key,
            device text not null,
            at integer not null,
            session text not null,
            name text not null,
            note text not null
        ) strict""",
        "create index events_session on events (session)",
        "create index events_name on events (name)",
        """create trigger events_stay before delete on events
        begin select raise(abort, 'events are never deleted'); end""",
        """create trigger events_are_final before update on events
        begin select raise(abort, 'events are never changed'); end""",
        """create table cards (
            question text primary key,
            seen integer not null,
            recipe integer not null,
            reps integer not null,
            lapses integer not null,
            stability real,
            difficulty real,
            due integer,
            last integer
        ) strict, without rowid""",
    ),
)
