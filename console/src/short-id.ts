/** The end of an id: ids of the same minute begin alike. */
export function shortId(id: string): string {
  return `…${id.slice(-7)}`;
}
