/** The product's name with its flag. */
export function Mark() {
  return (
    <span className="inline-flex items-center gap-2 text-lg font-semibold tracking-tight">
      <svg viewBox="0 0 20 20" className="size-5 text-calm" aria-hidden="true">
        <path d="M5 3v14.5" stroke="currentColor" strokeWidth="2" strokeLinecap="round" />
        <path d="M6.4 3.5h9.1l-2.5 3.3 2.5 3.3H6.4z" fill="currentColor" />
      </svg>
      dibs
    </span>
  );
}
