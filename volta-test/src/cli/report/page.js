
const form = document.querySelector("form.filter");
const [name, verdict, said] = [form.querySelector("input"), form.querySelector("select"), form.querySelector("output")];
const families = [...document.querySelectorAll("details.family")].map((family) => [family, family.open]);
const all = [...document.querySelectorAll("[data-name]")];
const choose = () => {
  const words = name.value.toLowerCase().split(/\s+/);
  const isAll = !name.value.trim() && !verdict.value;
  for (const one of all) {
    const has = (word) => one.dataset.name.toLowerCase().includes(word);
    one.hidden = !words.every(has) || (verdict.value !== "" && one.dataset.verdict !== verdict.value);
  }
  for (const [family, open] of families) {
    const left = family.querySelectorAll("tr[data-name]:not([hidden])").length;
    family.hidden = left === 0;
    family.open = isAll ? open : left > 0;
  }
  const count = document.querySelectorAll("tr[data-name]:not([hidden])").length;
  said.textContent = isAll ? "" : count === 1 ? "1 case" : `${count} cases`;
};
form.addEventListener("input", choose);
form.addEventListener("submit", (event) => event.preventDefault());
form.hidden = false;
choose();
