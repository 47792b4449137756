// The lab's jobs for Gatling: users, rate, seconds and steps come as system properties.
import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.*;

import io.gatling.javaapi.core.*;
import io.gatling.javaapi.http.*;

public class Peer extends Simulation {
    private static ChainBuilder steps() {
        ChainBuilder chain = null;
        // One a line: path, form, text, separated by tabs.
        for (String line : System.getProperty("steps").split("\n")) {
            String[] step = line.split("\t", -1);
            HttpRequestActionBuilder request = step[1].isEmpty()
                ? http(step[0]).get(step[0])
                : http(step[0]).post(step[0]).header("Content-Type", "application/x-www-form-urlencoded")
                    .body(StringBody(step[1]));
            if (!step[2].isEmpty()) {
                request = request.check(status().is(200), substring(step[2]).exists());
            }
            chain = chain == null ? exec(request) : chain.exec(request);
        }
        return chain;
    }

    {
        int users = Integer.getInteger("users");
        int rate = Integer.getInteger("rate");
        int seconds = Integer.getInteger("seconds");
        HttpProtocolBuilder protocol = http.baseUrl(System.getProperty("base")).disableCaching();
        if (Boolean.getBoolean("http2")) {
            protocol = protocol.enableHttp2();
        }
        if (rate > 0) {
            setUp(scenario("lab").exec(steps()).injectOpen(constantUsersPerSec(rate).during(seconds))).protocols(protocol);
        } else {
            ScenarioBuilder scenario = scenario("lab").during(seconds).on(steps());
            setUp(scenario.injectOpen(atOnceUsers(users))).protocols(protocol);
        }
    }
}
