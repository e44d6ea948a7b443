// What stands in the address ahead of the #: how the page is shown, as against what it shows. Anything else there is passed over.
const query = new URLSearchParams(location.search);

// One scene and nothing around it, for a frame in another page: ?embed
export const embedded = query.has('embed');

// Light or dark whatever the system says: ?theme=dark
const asked = query.get('theme');
export const askedTheme = asked === 'light' || asked === 'dark' ? asked : null;

export const pageAddress = (): string => location.href.replace(/[?#].*/, '');
