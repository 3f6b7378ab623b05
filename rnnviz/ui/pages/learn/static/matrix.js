// A matrix as a grid of numbers: coloured by value, lit by row and column, and, if wished, open to change.
//
//   x, y            its upper left corner, in units
//   values          rows of numbers
//   cell            [width, height] of an entry
//   label           what stands above it: [letter, subscript], or words; `shape` adds its size
//   digits, size    decimals, and the size of the numbers
//   full            the value that has a scale's last colour; `scale` "none" paints nothing
//   lit(i, j)       0 for faded, 1 for usual, 2 for lit
//   name, hover     with a name and hover(i, j), pointing at an entry says so; hover(null) when it ends
//   edit(i, j, v)   called with a number that was typed, between -`limit` and `limit`
//   pick(i, j)      called when an entry is clicked

export function matrix(board, options) {
  const { x, y, values, cell = [58, 42], label, shape = false, digits = 2, size = 20, full = 2 } = options;
  const { scale = "diverging", lit = () => 1, name, hover, edit, pick, into, colour } = options;
  const [w, h] = cell;
  const [rows, columns] = [values.length, values[0].length];
  const g = board.group({}, into);
  const { theme } = board;
  const edge = 7;
  if (label) {
    const middle = x + (columns * w) / 2;
    const said = [label].flat();
    const words = { anchor: "middle", fill: colour };
    const above = Array.isArray(label)
      ? board.symbol(middle, y - 22, said[0], said[1], words, g)
      : board.text(middle, y - 22, label, { ...words, size: 20, weight: 600 }, g);
    if (shape) {
      const tail = board.make("tspan", { "font-size": 17, fill: theme.muted, dy: said[1] ? -5.8 : 0 }, above);
      tail.textContent = `  ${rows} × ${columns}`;
    }
  }
  for (const side of [-1, 1]) {
    const at = side < 0 ? x - 3 : x + columns * w + 3;
    const d = `M${at - side * edge},${y - 3} H${at} V${y + rows * h + 3} H${at - side * edge}`;
    board.path(d, { stroke: colour ?? theme.muted, width: 2.2 }, g);
  }
  values.forEach((row, i) =>
    row.forEach((value, j) => {
      const state = lit(i, j);
      const background = scale === "none" ? theme.background : board.colour(value, scale, full);
      const entry = board.group({ opacity: state === 0 ? 0.28 : 1 }, g);
      const box = { fill: background, rx: 4, stroke: state === 2 ? theme.pinned : theme.grid };
      box["stroke-width"] = state === 2 ? 3.5 : 1;
      board.rect(x + j * w + 1.5, y + i * h + 1.5, w - 3, h - 3, box, entry);
      const ink = scale === "none" ? theme.text : board.ink(background);
      const said = board.number(value, digits);
      const fits = size * Math.min(1, (w - 6) / (said.length * size * 0.52)); // as large as its entry allows
      const words = { size: fits, anchor: "middle", fill: ink, weight: state === 2 ? 700 : 500 };
      const number = board.text(x + (j + 0.5) * w, y + (i + 0.5) * h, said, words, entry);
      number.style.fontVariantNumeric = "tabular-nums";
      if (!name) return;
      const answers = {};
      if (hover) Object.assign(answers, { enter: () => hover(i, j), leave: () => hover(null) });
      if (pick) answers.click = () => pick(i, j);
      if (edit) {
        answers.click = () => open(board, options, i, j);
        const values = { i: i + 1, j: j + 1, value: said };
        answers.label = `${name}: ${board.said.edit.replace(/\{(\w+)\}/g, (_, key) => values[key])}`;
        entry.style.cursor = "text";
      }
      board.on(entry, `${name}.${i}.${j}`, answers);
      if (edit) entry.style.cursor = "text";
    }),
  );
  return { x, y, width: columns * w, height: rows * h, right: x + columns * w, bottom: y + rows * h, g };
}

// A field over one entry. Enter and leaving it keep the number, Escape doesn't, Tab goes on to the next.
function open(board, { x, y, values, cell = [58, 42], digits = 2, size = 20, edit, limit = 9.99 }, i, j) {
  const input = document.createElement("input");
  input.className = "ln-entry";
  input.inputMode = "decimal";
  input.maxLength = 7;
  input.value = values[i][j].toFixed(digits).replace(/\.?0+$/, "");
  const place = { left: x + j * cell[0], top: y + i * cell[1], width: cell[0], height: cell[1] };
  for (const [side, units] of Object.entries(place)) input.style[side] = units * board.scale + "px";
  input.style.fontSize = size * board.scale + "px";
  let done = false;
  const finish = (keep) => {
    if (done) return;
    done = true;
    const value = Number(input.value.replace("−", "-").replace(",", "."));
    input.remove();
    if (keep && Number.isFinite(value) && input.value.trim() !== "" && value !== values[i][j])
      edit(i, j, Math.max(-limit, Math.min(limit, Number(value.toFixed(digits)))));
  };
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") finish(true);
    else if (event.key === "Escape") finish(false);
    else if (event.key === "Tab") {
      event.preventDefault();
      finish(true);
      const at = i * values[0].length + j + (event.shiftKey ? -1 : 1);
      const [row, column] = [Math.floor(at / values[0].length), at % values[0].length];
      if (row >= 0 && row < values.length) open(board, arguments[1], row, column);
    } else return;
    event.stopPropagation();
  });
  input.addEventListener("blur", () => finish(true));
  board.root.append(input);
  input.focus();
  input.select();
}
