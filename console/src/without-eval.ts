import { config } from "zod";

// The first import of the page: zod would otherwise try `new Function` as the contract's schemas are made, and the
// page's Content-Security-Policy reports every such try.
config({ jitless: true });
