/** Steps through pages of rows. */
export interface PagerProps {
  total: number;
  limit: number;
  offset: number;
  onMove(offset: number): void;
}

export function Pager({ total, limit, offset, onMove }: PagerProps) {
  if (total <= limit && offset === 0) return null;
  const last = Math.min(offset + limit, total);
  return (
    <nav class="toolbar" aria-label="Pages of rows">
      <button
        type="button"
        class="button small"
        disabled={offset === 0}
        onClick={() => onMove(Math.max(0, offset - limit))}
      >
        Previous
      </button>
      <span class="quiet">
        {total === 0 ? 0 : offset + 1}–{last} of {total}
      </span>
      <button
        type="button"
        class="button small"
        disabled={last >= total}
        onClick={() => onMove(offset + limit)}
      >
        Next
      </button>
    </nav>
  );
}
