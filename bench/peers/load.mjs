// Lets the compiled bench, which lives elsewhere, import what is installed here. The bench checks what it uses by hand-written
// interfaces, so that it compiles where the peers are not installed.
export const load = (name) => import(name);
