// The demo site's only script: draws a few prisms behind the front page's title
// and marks the current page in the navigation. It needs no other file.
(function () {
  "use strict";

  function face(context, points, colour) {
    context.fillStyle = colour;
    context.beginPath();
    points.forEach(function (point) {
      context.lineTo(point[0], point[1]);
    });
    context.closePath();
    context.fill();
  }

  function prism(context, x, y, size, hue) {
    const half = size / 2;
    const top = [x, y - half];
    const left = [x - half, y + half * 0.6];
    const right = [x + half, y + half * 0.6];
    const middle = [x + half * 0.2, y + half];
    face(context, [top, left, middle], "hsla(" + hue + ", 60%, 65%, 0.35)");
    face(context, [top, middle, right], "hsla(" + (hue + 20) + ", 60%, 50%, 0.35)");
  }

  function draw(hero) {
    const canvas = document.createElement("canvas");
    canvas.width = hero.clientWidth;
    canvas.height = hero.clientHeight;
    canvas.setAttribute("aria-hidden", "true");
    canvas.style.cssText = "position:absolute;inset:0;z-index:-1";
    const context = canvas.getContext("2d");
    if (!context) {
      return;
    }
    for (let index = 0; index < 24; index += 1) {
      const x = (canvas.width * ((index * 61) % 97)) / 97;
      const y = (canvas.height * ((index * 29) % 53)) / 53;
      prism(context, x, y, 20 + ((index * 17) % 40), 230 + ((index * 11) % 60));
    }
    hero.style.position = "relative";
    hero.appendChild(canvas);
  }

  function markCurrent() {
    document.querySelectorAll("nav a").forEach(function (link) {
      if (link.pathname === window.location.pathname) {
        link.setAttribute("aria-current", "page");
      }
    });
  }

  document.addEventListener("DOMContentLoaded", function () {
    const hero = document.querySelector(".hero");
    if (hero) {
      draw(hero);
    }
    markCurrent();
  });
})();
