// The page of a running test: follows the stream of the server that it came from.

import { render } from "preact";
import { Model } from "./model.ts";
import { follow } from "./stream/sse.ts";
import { followTheme } from "./theme.ts";
import { App } from "./view/app.tsx";
import "./style/all.css";

const model = new Model("dashboard");
followTheme(model);

let stop = () => {};
const connect = () => {
  stop();
  stop = follow({
    url: "events",
    token: () => model.token.value,
    onMessages: (messages) => model.take(messages),
    onConnection: (connection, why) => {
      model.connection.value = connection;
      model.connectionWhy.value = why;
    },
  });
};

const place = document.getElementById("app");
if (place !== null) {
  render(<App model={model} onToken={connect} />, place);
}
connect();
