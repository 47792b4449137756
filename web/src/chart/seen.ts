// Whether a part of the page is near what is looked at: charts elsewhere need not follow a run.

import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

export function useSeen(ref: RefObject<Element | null>): boolean {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const element = ref.current;
    if (element === null) {
      return;
    }
    const watch = new IntersectionObserver((entries) => setSeen(entries.at(-1)?.isIntersecting ?? false), {
      rootMargin: "200px",
    });
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  return isSeen;
}
