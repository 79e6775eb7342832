/** What is wrong with a file: each place with the text around it. */
import type { ApiError } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { excerptOf, readLines } from "./file-lines.ts";

interface Place {
  line?: number;
  column?: number;
  rule: string;
}

export function FileRefusal({ error, file }: { error: ApiError; file: File }) {
  const places: readonly Place[] = error.problems.map(({ line, column, rule }) => ({
    ...(typeof line === "number" ? { line } : {}),
    ...(typeof column === "number" ? { column } : {}),
    rule,
  }));
  const wanted = places.flatMap(({ line }) => line ?? []);
  const key = wanted.length > 0 ? `${file.name} ${file.lastModified} ${wanted.join(" ")}` : undefined;
  const lines = useResource(key, (signal) => readLines(file, wanted, signal));
  return (
    <section class="notice bad" role="alert" aria-label="What is wrong with the file">
      <p>
        <strong>{file.name} was refused; nothing was changed.</strong> {error.message}
      </p>
      <ol class="places">
        {places.map((place) => (
          <PlaceItem
            key={`${place.line} ${place.column} ${place.rule}`}
            place={place}
            text={place.line === undefined ? undefined : lines.data?.get(place.line)}
          />
        ))}
      </ol>
      {error.totalProblems > places.length ? <p>and {error.totalProblems - places.length} more</p> : null}
    </section>
  );
}

function PlaceItem({ place: { line, column, rule }, text }: { place: Place; text: string | undefined }) {
  const where = [line === undefined ? [] : `line ${line}`, column === undefined ? [] : `column ${column}`];
  const place = where.flat().join(", ");
  const excerpt = text === undefined ? undefined : excerptOf(text, column);
  return (
    <li>
      {place === "" ? null : <strong>{place}: </strong>}
      {rule}
      {excerpt ? (
        <code class="excerpt">
          {excerpt.before}
          {column === undefined ? null : <mark>{excerpt.at === "" ? "⏎" : excerpt.at}</mark>}
          {excerpt.after}
        </code>
      ) : null}
    </li>
  );
}
