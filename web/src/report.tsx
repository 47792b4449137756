// The page of a finished run: everything it shows is in the file.

import { render } from "preact";
import { Model } from "./model.ts";
import { embeddedMessages, embeddedSummary } from "./stream/embedded.ts";
import { followTheme } from "./theme.ts";
import { App } from "./view/app.tsx";
import "./style/all.css";

const model = new Model("report");
followTheme(model);
model.summary.value = embeddedSummary(document);

const place = document.getElementById("app");
if (place !== null) {
  render(<App model={model} onToken={() => {}} />, place);
  embeddedMessages(document)
    .then((messages) => {
      model.take(messages ?? []);
      model.apply();
      const head = model.run.head;
      document.title = head === null ? "Onrush report" : `${head.script}: Onrush report`;
    })
    .catch((error: unknown) => {
      place.textContent = `The run in this report cannot be read: ${String(error)}`;
    });
}
