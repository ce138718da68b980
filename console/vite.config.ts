import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The page is served under a policy that allows files of its own origin and nothing inline.
export default defineConfig({
  plugins: [react(), tailwind()],
  build: { assetsInlineLimit: 0, modulePreload: { polyfill: false }, chunkSizeWarningLimit: 700 },
  server: { proxy: { "/v1": "http://127.0.0.1:4747" } },
});
