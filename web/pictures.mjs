// Pictures of a dashboard that runs, for docs/images: node pictures.mjs URL SECONDS FOLDER
// After so many seconds one is taken at the top and one at "Latency". CHROMIUM names another browser.
import { chromium } from "playwright-core";

const [url, seconds, folder] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
const page = await browser.newPage({ viewport: { width: 1280, height: 860 }, colorScheme: "light" });
await page.goto(url, { waitUntil: "domcontentloaded" });
const paint = () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
await page.waitForFunction(paint);
console.log(`first contentful paint: ${Math.round(await page.evaluate(paint))} ms`);
await page.waitForTimeout(Number(seconds) * 1000);
await page.screenshot({ path: `${folder}/dashboard-light.png` });
await page.evaluate(() => {
  const heading = [...document.querySelectorAll("h2")].find((one) => one.textContent === "Latency");
  window.scrollTo(0, heading.getBoundingClientRect().top + window.scrollY - 150);
});
await page.waitForTimeout(1500);
await page.screenshot({ path: `${folder}/dashboard-latency.png` });
await browser.close();
