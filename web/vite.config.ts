// The dashboard: a page, a script and a style sheet, under names that stay, so that the program can embed and serve them.

import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  build: {
    outDir: "dist/dashboard",
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    reportCompressedSize: false,
    rolldownOptions: {
      input: "index.html",
      output: { entryFileNames: "app.js", assetFileNames: "app[extname]", codeSplitting: false },
    },
  },
});
