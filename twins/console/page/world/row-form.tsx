/** A row to look at, change, add or remove. What the twin refuses stands beside the fields. */
import { useState } from "preact/hooks";
import { ApiError, isApiError, send } from "../api/client.ts";
import { place } from "../place.ts";
import { Confirm, Dialog } from "../ui/dialog.tsx";
import { Failure } from "../ui/feedback.tsx";
import { Field } from "../ui/field.tsx";
import { useAction } from "../ui/hooks.ts";
import { type FieldText, formatText, parseValue } from "./field.ts";
import { type Column, dataPath, keyColumnsOf, keyOf, type Row, type Table } from "./types.ts";

export interface RowFormProps {
  twin: string;
  table: Table;
  /** Absent: a new row. */
  row?: Row | undefined;
  onDone(): void;
  onClose(): void;
}

export function RowForm({ twin, table, row, onDone, onClose }: RowFormProps) {
  const [edited, setEdited] = useState<ReadonlyMap<string, FieldText>>(new Map());
  const [isRemoving, setRemoving] = useState(false);
  const saving = useAction<ApiError>(isApiError);
  const path = dataPath(place.value.sandbox, twin);
  const keys = keyColumnsOf(table);
  const isReadOnly = row !== undefined && keys.length === 0;

  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    const isSaved = await saving.run(() => {
      const values = readValues(table, edited);
      return row === undefined
        ? send("POST", path, { data: { [table.name]: [values] } })
        : send("PATCH", path, { entity_type: table.name, where: keyOf(table, row), changes: values });
    });
    if (isSaved) onDone();
  };

  const problems = saving.failure?.problems ?? [];
  const ofNoColumn = problems.filter(({ column }) => !table.columns.some(({ name }) => name === column));
  return (
    <Dialog title={row === undefined ? `New row of ${table.name}` : `Row of ${table.name}`} onClose={onClose}>
      <form onSubmit={(event) => void save(event)}>
        {saving.failure ? (
          <Failure
            error={
              new ApiError(saving.failure.status, saving.failure.code, saving.failure.message, ofNoColumn)
            }
          />
        ) : null}
        {table.columns.map((column) => (
          <ColumnField
            key={column.name}
            column={column}
            text={
              edited.has(column.name)
                ? (edited.get(column.name) ?? null)
                : formatText(column, row?.[column.name])
            }
            isFixed={isReadOnly || (row !== undefined && keys.includes(column.name))}
            problem={problems.find((problem) => problem.column === column.name)?.rule}
            onEdit={(text) => setEdited(new Map(edited).set(column.name, text))}
          />
        ))}
        <div class="actions">
          {row === undefined || isReadOnly ? null : (
            <button type="button" class="button danger" onClick={() => setRemoving(true)}>
              Remove the row
            </button>
          )}
          {isReadOnly ? null : (
            <button
              type="submit"
              class="button primary"
              disabled={saving.isRunning || (row !== undefined && edited.size === 0)}
            >
              {row === undefined ? "Add the row" : "Save changes"}
            </button>
          )}
        </div>
      </form>
      {isRemoving && row ? (
        <Confirm
          title="Remove the row?"
          action="Remove the row"
          run={async () => {
            await send("DELETE", path, { entity_type: table.name, where: keyOf(table, row) });
            onDone();
          }}
          onClose={() => setRemoving(false)}
        >
          <p>A reset brings it back if it was there at the start.</p>
        </Confirm>
      ) : null}
    </Dialog>
  );
}

/** @throws ApiError in the twins' own shape, so that it is shown beside the fields like theirs */
function readValues(table: Table, edited: ReadonlyMap<string, FieldText>): Row {
  const values: Row = {};
  const problems: { column: string; rule: string }[] = [];
  for (const column of table.columns) {
    if (!edited.has(column.name)) continue;
    const value = parseValue(column, edited.get(column.name) ?? null);
    if (value.ok) values[column.name] = value.value;
    else problems.push({ column: column.name, rule: value.rule });
  }
  if (problems.length > 0) throw new ApiError(422, "invalid", "Nothing was saved.", problems);
  return values;
}

interface ColumnFieldProps {
  column: Column;
  text: FieldText;
  isFixed: boolean;
  problem: string | undefined;
  onEdit(text: FieldText): void;
}

function ColumnField({ column, text, isFixed, problem, onEdit }: ColumnFieldProps) {
  const hint = [column.description, column.references ? `A value of ${column.references}.` : ""];
  return (
    <Field
      label={
        <>
          <strong>{column.name}</strong> {column.type}
          {column.required ? ", required" : ""}
        </>
      }
      problem={problem}
      hint={hint.filter(Boolean).join(" ")}
    >
      {(control) => (
        <div class="value">
          <ValueInput
            column={column}
            text={text}
            shared={{ ...control, disabled: isFixed }}
            onEdit={onEdit}
          />
          {isFixed || text === null ? null : (
            <button type="button" class="button small" onClick={() => onEdit(null)}>
              No value<span class="visually-hidden">{` for ${column.name}`}</span>
            </button>
          )}
        </div>
      )}
    </Field>
  );
}

interface ValueInputProps {
  column: Column;
  text: FieldText;
  shared: Record<string, string | boolean | undefined>;
  onEdit(text: FieldText): void;
}

function ValueInput({ column, text, shared, onEdit }: ValueInputProps) {
  const choices = column.allowed ?? (column.type === "boolean" ? [true, false] : undefined);
  if (choices) {
    return (
      <select
        {...shared}
        value={text ?? ""}
        onChange={({ currentTarget: { value } }) => onEdit(value === "" ? null : value)}
      >
        <option value="">no value</option>
        {choices.map((choice) => (
          <option key={String(choice)}>{String(choice)}</option>
        ))}
      </select>
    );
  }
  const placeholder = column.default === undefined ? "no value" : `by default ${String(column.default)}`;
  const isLong = column.type === "json" || (text?.length ?? 0) > 80 || text?.includes("\n");
  return isLong ? (
    <textarea
      {...shared}
      rows={Math.min(12, (text ?? "").split("\n").length + 1)}
      spellcheck={false}
      value={text ?? ""}
      placeholder={placeholder}
      onInput={({ currentTarget }) => onEdit(currentTarget.value)}
    />
  ) : (
    <input
      {...shared}
      value={text ?? ""}
      placeholder={placeholder}
      onInput={({ currentTarget }) => onEdit(currentTarget.value)}
    />
  );
}
