// Changes to a running test, over the REST API of the same server.

export type Answer = { isOk: true } | { isOk: false; why: string; needsToken: boolean };

export class Steer {
  constructor(private readonly token: () => string) {}

  pause(isPaused: boolean): Promise<Answer> {
    return this.patch("v1/status", { data: { type: "status", id: "default", attributes: { paused: isPaused } } });
  }

  stop(): Promise<Answer> {
    return this.patch("v1/status", { data: { type: "status", id: "default", attributes: { stopped: true } } });
  }

  scale(scenario: string, what: "vus" | "rate", value: number, overSeconds: number): Promise<Answer> {
    const attributes = { [what]: value, ...(overSeconds > 0 ? { overSeconds } : {}) };
    return this.patch(`v1/scenarios/${encodeURIComponent(scenario)}`, { data: { attributes } });
  }

  private async patch(path: string, body: unknown): Promise<Answer> {
    const headers: Record<string, string> = { "Content-Type": "application/json" };
    if (this.token() !== "") {
      headers.Authorization = `Bearer ${this.token()}`;
    }
    try {
      const response = await fetch(path, {
        method: "PATCH",
        headers,
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      if (response.ok) {
        return { isOk: true };
      }
      return { isOk: false, why: await reason(response), needsToken: response.status === 401 };
    } catch {
      return { isOk: false, why: "the test did not answer", needsToken: false };
    }
  }
}

async function reason(response: Response): Promise<string> {
  try {
    const body = (await response.json()) as { errors?: { detail?: string; title?: string }[] };
    const error = body.errors?.[0];
    return error?.detail || error?.title || `the server answered ${response.status}`;
  } catch {
    return `the server answered ${response.status}`;
  }
}

const ANSWER_MS = 15_000;
