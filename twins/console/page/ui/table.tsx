/** The frame of a table that may be wider than the page: it scrolls, and is reachable by keyboard for that. */
import type { ComponentChildren } from "preact";

/** The head of a column: its title, where it is shown, and whether figures are below it. */
type ColumnHead = string | { title: string; kind: "number" | "unseen" };

export interface TableFrameProps {
  /** What the table shows, for those who do not see it. */
  label: string;
  columns: readonly ColumnHead[];
  caption?: string;
  /** The rows. */
  children: ComponentChildren;
}

export function TableFrame({ label, columns, caption, children }: TableFrameProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="table-frame" tabIndex={0} aria-label={label}>
      <table class="table">
        {caption === undefined ? null : <caption>{caption}</caption>}
        <thead>
          <tr>
            {columns.map((column) => (
              <Head key={typeof column === "string" ? column : column.title} column={column} />
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

function Head({ column }: { column: ColumnHead }) {
  if (typeof column === "string") return <th scope="col">{column}</th>;
  return column.kind === "number" ? (
    <th scope="col" class="number">
      {column.title}
    </th>
  ) : (
    <th scope="col">
      <span class="visually-hidden">{column.title}</span>
    </th>
  );
}
