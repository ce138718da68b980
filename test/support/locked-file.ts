import { openDriver, type SqliteDriver } from "../../src/store/driver.js";

/** Holds a store's write lock from this process, as any other program with the file open can. */
export class LockedFile {
  readonly #driver: SqliteDriver;
  #held = true;

  constructor(path: string) {
    this.#driver = openDriver(path);
    this.#driver.exec("PRAGMA busy_timeout = 10000");
    this.#driver.exec("BEGIN EXCLUSIVE");
  }

  /** Lets go; with `sql`, after having written that. */
  free(sql = ""): void {
    if (!this.#held) return;
    this.#held = false;
    this.#driver.exec(`${sql}; COMMIT`);
    this.#driver.close();
  }
}
