import "./without-eval.js";
import "./styles.css";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.js";
import { arrive } from "./sign-in.js";

const queries = new QueryClient({
  // A server on this machine is reachable without any network, whatever the browser thinks of being online.
  defaultOptions: { queries: { retry: false, networkMode: "always", staleTime: 0 } },
});

const root = document.getElementById("page");
if (root === null) throw new Error("The page's frame is missing.");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <App arrival={arrive()} />
    </QueryClientProvider>
  </StrictMode>,
);
