// The report: one file with everything in it, which may run its own script and nothing else, and never reaches for a network.

import { createHash } from "node:crypto";
import { defineConfig, type Plugin } from "vite";

export default defineConfig({
  base: "./",
  plugins: [inOneFile()],
  build: {
    outDir: "dist/report",
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    reportCompressedSize: false,
    rolldownOptions: { input: "report.html", output: { codeSplitting: false } },
  },
});

function inOneFile(): Plugin {
  return {
    name: "in-one-file",
    enforce: "post",
    generateBundle(_, bundle) {
      let script = "";
      let style = "";
      for (const [name, file] of Object.entries(bundle)) {
        if (file.type === "chunk") {
          script += file.code;
          delete bundle[name];
        } else if (name.endsWith(".css")) {
          style += String(file.source);
          delete bundle[name];
        }
      }
      const page = bundle["report.html"];
      if (page?.type !== "asset") {
        throw new Error("there is no page to put script and style into");
      }
      // In a script element only these two sequences end or change what follows.
      script = script.trim().replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
      style = style.trim();
      const policy = `default-src 'none'; script-src ${hashed(script)}; style-src ${hashed(style)}; img-src data:; base-uri 'none'; form-action 'none'`;
      page.source = String(page.source)
        .replace(/\s*<script[^>]*src=[^>]*><\/script>/g, "")
        .replace(/\s*<link[^>]*rel="stylesheet"[^>]*>/g, "")
        .replace(
          '<meta charset="utf-8" />',
          () => `<meta charset="utf-8" />\n    <meta http-equiv="Content-Security-Policy" content="${policy}" />`,
        )
        .replace("</head>", () => `  <style>${style}</style>\n  </head>`)
        .replace("</body>", () => `  <script type="module">${script}</script>\n  </body>`);
    },
  };
}

function hashed(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
