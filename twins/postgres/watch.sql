-- Tells the control plane of every committed change, whoever makes it: statement triggers that NOTIFY.
--
-- Postgres delivers notifications at commit, in commit order, and forgets those of a transaction that is rolled back,
-- which is exactly what a state version needs. A payload is limited to 8000 bytes, so a message goes out in pieces
-- `<message number> <piece> <pieces> <text>`; the number also keeps equal messages of one transaction from being merged.
-- While `offhook.quiet` is `on` (a load of the whole state, which is told as one change) nothing is sent.

CREATE SCHEMA offhook_watch;
COMMENT ON SCHEMA offhook_watch IS 'Of the sandbox, not of the application: tells the control plane of changes.';
CREATE SEQUENCE offhook_watch.message;
-- Has been called when a definition may have changed since the database was made, be it in a transaction still open.
CREATE SEQUENCE offhook_watch.definition;

CREATE FUNCTION offhook_watch.tell(message jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
  content text := message::text;
  number bigint := nextval('offhook_watch.message');
  piece constant int := 1900; -- characters, of at most four bytes each
  pieces int := ceil(length(content)::numeric / piece);
BEGIN
  IF current_setting('offhook.quiet', true) = 'on' THEN RETURN; END IF;
  FOR i IN 1..pieces LOOP
    PERFORM pg_notify('offhook_watch', concat_ws(' ', number, i, pieces, substr(content, (i - 1) * piece + 1, piece)));
  END LOOP;
END $$;

-- Values go as texts in one fixed form, whatever the writer's settings (JSON numbers and local times would lose),
-- with their types, so that nobody has to ask the catalogue, which the writer's next transaction may lock.
-- A statement on more than a thousand rows tells how many they were, and shows the first thousand.
CREATE FUNCTION offhook_watch.on_rows() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog SET timezone = 'UTC' SET datestyle = 'ISO, YMD' SET intervalstyle = 'postgres'
SET bytea_output = 'hex' SET extra_float_digits = 1 AS $$
DECLARE
  columns jsonb;
  texts text;
  shown jsonb;
  total bigint;
BEGIN
  SELECT count(*) INTO total FROM changed;
  IF total = 0 THEN RETURN NULL; END IF;
  SELECT string_agg(format('%I::text', a.attname), ', ' ORDER BY a.attnum),
         jsonb_agg(jsonb_build_object('name', a.attname, 'type', base.typname,
           'elementType', element.typname, 'delimiter', element.typdelim,
           'key', coalesce(a.attnum = ANY (identity.conkey), false)) ORDER BY a.attnum)
    INTO texts, columns
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
    JOIN pg_type base ON base.oid = CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.oid END
    LEFT JOIN pg_type element ON element.oid = base.typelem AND base.typcategory = 'A'
    LEFT JOIN pg_constraint identity ON identity.conrelid = TG_RELID AND identity.contype = 'p'
   WHERE a.attrelid = TG_RELID AND a.attnum > 0 AND NOT a.attisdropped;
  EXECUTE format('SELECT jsonb_agg(ARRAY[%s]::text[]) FROM (SELECT * FROM changed LIMIT 1000) AS r', texts) INTO shown;
  PERFORM offhook_watch.tell(jsonb_build_object('schema', TG_TABLE_SCHEMA, 'table', TG_TABLE_NAME,
    'change', lower(TG_OP), 'columns', columns, 'rows', shown, 'total', total));
  RETURN NULL;
END $$;

CREATE FUNCTION offhook_watch.on_truncate() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  PERFORM offhook_watch.tell(jsonb_build_object('schema', TG_TABLE_SCHEMA, 'table', TG_TABLE_NAME, 'change', 'truncate'));
  RETURN NULL;
END $$;

-- Puts the triggers on every table that has none yet.
CREATE FUNCTION offhook_watch.adopt() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  relation regclass;
  event text;
  rows_of text;
BEGIN
  FOR relation IN
    SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'p') AND c.relpersistence <> 't'
       AND n.nspname NOT LIKE 'pg\_%' AND n.nspname NOT IN ('information_schema', 'offhook_watch')
       AND NOT EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgname = 'offhook_watch_truncate')
  LOOP
    FOREACH event IN ARRAY ARRAY['insert', 'update', 'delete'] LOOP
      rows_of := CASE event WHEN 'delete' THEN 'OLD' ELSE 'NEW' END;
      EXECUTE format('CREATE TRIGGER offhook_watch_%s AFTER %s ON %s REFERENCING %s TABLE AS changed
        FOR EACH STATEMENT EXECUTE FUNCTION offhook_watch.on_rows()', event, event, relation, rows_of);
      EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER offhook_watch_%s', relation, event);
    END LOOP;
    EXECUTE format('CREATE TRIGGER offhook_watch_truncate AFTER TRUNCATE ON %s
      FOR EACH STATEMENT EXECUTE FUNCTION offhook_watch.on_truncate()', relation);
    EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER offhook_watch_truncate', relation);
  END LOOP;
END $$;

-- Adopting defines triggers itself, hence the guard. A table of one session (TEMP) is no part of the world.
CREATE FUNCTION offhook_watch.on_definition() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  IF current_setting('offhook.adopting', true) = 'on' THEN RETURN; END IF;
  IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE schema_name = 'pg_temp') THEN RETURN; END IF;
  PERFORM set_config('offhook.adopting', 'on', true);
  PERFORM offhook_watch.adopt();
  PERFORM set_config('offhook.adopting', 'off', true);
  PERFORM nextval('offhook_watch.definition');
  PERFORM offhook_watch.tell(jsonb_build_object('change', 'definition', 'command', TG_TAG));
END $$;

SELECT offhook_watch.adopt();

-- Only a superuser may watch definitions; without, the control plane adopts new tables when it next looks.
DO $$
BEGIN
  IF (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user) THEN
    CREATE EVENT TRIGGER offhook_watch ON ddl_command_end EXECUTE FUNCTION offhook_watch.on_definition();
    ALTER EVENT TRIGGER offhook_watch ENABLE ALWAYS;
  END IF;
END $$;
