// TypeScript runs as it is: no bundler, no build step. Types are removed;
// enums, namespaces and parameter properties become JavaScript.
//
//   onrush run examples/typescript.ts
//
// BASE_URL   the system under test (default http://127.0.0.1:8080)
import http from 'k6/http';
import type { RefinedResponse } from 'k6/http';
import { check, sleep } from 'k6';
import type { Options } from 'k6/options';
import { Rate } from 'k6/metrics';

const BASE_URL: string = __ENV.BASE_URL || 'http://127.0.0.1:8080';

export const options: Options = {
  vus: 5,
  duration: '10s',
  thresholds: { available: ['rate>0.99'] },
};

enum Speed {
  Fast = 50,
  Bearable = 500,
}

interface Product {
  readonly id: number;
  name: string;
  price: number;
  in_stock: boolean;
}

namespace Money {
  export const format = (value: number, currency = 'EUR'): string => `${value.toFixed(2)} ${currency}`;
}

class Shop {
  constructor(private readonly base: string, public visits = 0) {}

  products(): Product[] {
    this.visits++;
    const res = http.get(`${this.base}/json`);
    this.verify(res, Speed.Bearable);
    return (res.json('catalogue.products') as unknown as Product[]) ?? [];
  }

  private verify(res: RefinedResponse<'text'>, limit: Speed): void {
    available.add(check(res, {
      'status is 200': (r) => r.status === 200,
      [`answered within ${Speed[limit]} time`]: (r) => r.timings.duration < limit,
    }));
  }
}

const available = new Rate('available');
const shop = new Shop(BASE_URL);

function cheapest<T extends { price: number }>(items: T[]): T | undefined {
  return items.reduce<T | undefined>((best, item) => (best && best.price <= item.price ? best : item), undefined);
}

export default function (): void {
  const best = cheapest(shop.products().filter((p) => p.in_stock));
  check(best, { 'something is for sale': (p) => p !== undefined });
  if (best && __ITER === 0 && __VU === 1) {
    console.log(`${best.name} for ${Money.format(best.price)}, visit ${shop.visits}`);
  }
  sleep(0.5);
}
