// Filters the list of all types by the name that is typed.
const field = document.getElementById("search");
const items = [...document.querySelectorAll("#types li")].map((item) => [item, item.textContent.toLowerCase()]);
field.hidden = false;
field.addEventListener("input", () => {
  const words = field.value.toLowerCase().split(/\s+/);
  for (const [item, text] of items) {
    item.hidden = !words.every((word) => text.includes(word));
  }
});
