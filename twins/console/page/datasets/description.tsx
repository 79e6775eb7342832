/** What a dataset holds: its size, its time, its columns, its first rows. */
import { useState } from "preact/hooks";
import { send } from "../api/client.ts";
import { Confirm } from "../ui/dialog.tsx";
import { formatBytes, formatMoment, formatValue } from "../ui/format.ts";
import { TableFrame } from "../ui/table.tsx";
import { type DatasetPlace, type DatasetWithSample, datasetPath, valueAt } from "./types.ts";

export interface DescriptionProps extends DatasetPlace {
  dataset: DatasetWithSample;
  sandboxes: readonly string[];
  onChanged(): void;
}

export function Description({ dataset, environment, service, sandboxes, onChanged }: DescriptionProps) {
  const [isDeleting, setDeleting] = useState(false);
  const { time_range: range } = dataset;
  return (
    <section class="card" aria-labelledby="dataset-title">
      <div class="heading">
        <h2 id="dataset-title">{dataset.file_name ?? "Without a file name"}</h2>
        <div class="end">
          <button type="button" class="button danger small" onClick={() => setDeleting(true)}>
            Delete
          </button>
        </div>
      </div>
      <dl class="facts">
        <dt>Rows</dt>
        <dd>{dataset.rows.toLocaleString()}</dd>
        <dt>File</dt>
        <dd>
          {dataset.format.toUpperCase()}, {formatBytes(dataset.bytes)}, read{" "}
          {formatMoment(dataset.created_at)}
        </dd>
        <dt>Time</dt>
        <dd>
          {dataset.time_field === null ? (
            "no column has the time of an event"
          ) : (
            <>
              <code>{dataset.time_field}</code>
              {range ? ` from ${range.from} to ${range.to}` : null}
            </>
          )}
        </dd>
      </dl>
      <Columns dataset={dataset} />
      <FirstRows dataset={dataset} />
      {isDeleting ? (
        <Confirm
          title="Delete the dataset?"
          action="Delete the dataset"
          run={async () => {
            await send("DELETE", datasetPath({ environment, service }));
            onChanged();
          }}
          onClose={() => setDeleting(false)}
        >
          <p>
            {sandboxes.length === 0
              ? "No sandbox uses it at the moment."
              : `${service} is reset in ${sandboxes.join(", ")} and has no rows then.`}
          </p>
        </Confirm>
      ) : null}
    </section>
  );
}

function Columns({ dataset: { columns, time_field } }: { dataset: DatasetWithSample }) {
  return (
    <details open={columns.length <= 30}>
      <summary>{columns.length} columns</summary>
      <TableFrame label="Columns" columns={["Column", "Type", "Note"]}>
        {columns.map(({ name, type, multi, note }) => (
          <tr key={name}>
            <th scope="row">
              <code>{name}</code>{" "}
              {name === time_field ? <span class="tag accent">time of the event</span> : null}
            </th>
            <td>
              {type}
              {multi ? ", several values" : ""}
            </td>
            <td class="quiet">{note}</td>
          </tr>
        ))}
      </TableFrame>
    </details>
  );
}

function FirstRows({ dataset: { columns, sample } }: { dataset: DatasetWithSample }) {
  if (sample.length === 0) return null;
  return (
    <TableFrame
      label="First rows"
      caption={`The first ${sample.length} rows`}
      columns={columns.map(({ name }) => name)}
    >
      {sample.map((row) => (
        <tr key={JSON.stringify(row)}>
          {columns.map(({ name }) => (
            <td key={name} class="cut mono" title={formatValue(valueAt(row, name))}>
              {formatValue(valueAt(row, name))}
            </td>
          ))}
        </tr>
      ))}
    </TableFrame>
  );
}
