// Tells about a dot at once, on a phone as well: the browser's own tip is slow, and a finger has none.
(function () {
    "use strict";
    const tip = document.createElement("div");
    tip.className = "tip";
    tip.hidden = true;
    document.body.appendChild(tip);

    // The text of the dot; its own <title> goes, or both would show.
    function textOf(dot) {
        const title = dot.querySelector("title");
        if (title) {
            dot.setAttribute("aria-label", title.textContent);
            title.remove();
        }
        return dot.getAttribute("aria-label");
    }

    function show(event) {
        const dot = event.target.closest ? event.target.closest(".dot") : null;
        tip.hidden = !dot;
        if (!dot)
            return;
        tip.textContent = textOf(dot);
        const at = dot.getBoundingClientRect();
        const left = Math.min(at.right + 8, document.documentElement.clientWidth - tip.offsetWidth - 8);
        const above = at.top - tip.offsetHeight - 8;
        tip.style.left = Math.max(8, left) + "px";
        tip.style.top = (above > 8 ? above : at.bottom + 8) + "px";
    }

    document.addEventListener("pointerover", show);
    document.addEventListener("pointerdown", show);
    document.addEventListener("scroll", function () { tip.hidden = true; }, { passive: true });
})();
