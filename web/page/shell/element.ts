// Elements in one call: element('button', { class: 'quiet', type: 'button' }, 'Verify').
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Record<string, string | number | boolean> = {}, ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, '');
    else if (value !== false) made.setAttribute(name, String(value));
  }
  made.append(...children);
  return made;
}
