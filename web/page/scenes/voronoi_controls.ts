// What can be set in the scene Voronoi.
import type { Control, Values } from '../shell/scene.js';
import { orOff } from '../shell/words.js';

const exact = (values: Values): boolean => values['form'] === 'exact';

export const controls: readonly Control[] = [
  { kind: 'slider', id: 'sites', label: 'Sites', least: 5, most: 4000000, initial: 3000, logarithmic: true, group: 'Sites',
    help: 'How many points there are' },
  { kind: 'choice', id: 'family', label: 'Distribution', initial: 'clusters', group: 'Sites', help: 'Where the points lie',
    options: [{ value: 'uniform', label: 'Uniform' }, { value: 'clusters', label: 'Clusters' }, { value: 'circle', label: 'Circle' },
      { value: 'grid', label: 'Grid' }, { value: 'duplicates', label: 'Duplicates' }] },
  { kind: 'slider', id: 'motion', label: 'Motion', least: 0, most: 4, step: 0.25, initial: 0.5, group: 'Sites',
    text: orOff((v) => `${v} ×`), help: 'How fast the points move; the tree is built anew for every picture' },
  { kind: 'choice', id: 'tool', label: 'Pointer', initial: 'move', group: 'Sites', key: 't',
    help: 'What a press does. Move drags a site or the view. With Shift a click always adds; the right button always deletes',
    options: [{ value: 'move', label: 'Move' }, { value: 'add', label: 'Add' }, { value: 'delete', label: 'Delete' }] },
  { kind: 'button', id: 'again', label: 'Other sites', key: 'n', group: 'Sites' },
  { kind: 'choice', id: 'view', label: 'Show', initial: 'cells', group: 'Picture', key: 'c',
    help: 'Work is how many nodes of the tree a pixel’s search visits, counted on the way down with a stack and on the way back without one',
    options: [{ value: 'cells', label: 'Cells' }, { value: 'distance', label: 'Distance' }, { value: 'edges', label: 'Edges' }, { value: 'work', label: 'Work' }] },
  { kind: 'slider', id: 'near', label: 'Neighbours', least: 0, most: 7, initial: 5, group: 'Picture',
    help: 'How many sites besides the nearest one are shown at the pointer' },
  { kind: 'slider', id: 'levels', label: 'Levels of the tree', least: 0, most: 14, initial: 0, group: 'Picture', shown: exact,
    text: orOff(String), help: 'The planes of the tree’s upper nodes, drawn over the picture' },
  { kind: 'switch', id: 'search', label: 'Search at the pointer', initial: true, group: 'Picture', key: 'h', shown: exact, help: 'Its way through the tree, step by step' },
  { kind: 'switch', id: 'dots', label: 'Sites as dots', initial: true, group: 'Picture', key: 'd' },
  { kind: 'button', id: 'home', label: 'Whole view', key: '0', group: 'Picture', shown: (v) => v['zoom'] !== 1 || v['x'] !== 0.5 || v['y'] !== 0.5 },
  { kind: 'choice', id: 'walk', label: 'Walk', initial: 'stackless', group: 'Search', key: 'k', shown: exact,
    help: 'How shaders remember the way back up the tree: with a stack, or with one bit a level',
    options: [{ value: 'stackless', label: 'Stackless' }, { value: 'stack', label: 'Stack' }] },
  { kind: 'choice', id: 'form', label: 'Tree', initial: 'exact', group: 'Search', key: 'x',
    help: 'Floats and integers, or four bytes a node with sites rounded to 15 bits',
    options: [{ value: 'exact', label: 'Exact' }, { value: 'compact', label: 'Compact' }] },
  { kind: 'choice', id: 'webgl', label: 'WebGL', initial: '2', group: 'Search', key: 'w',
    help: 'WebGL 1 draws the compact form only, in GLSL ES 1.00',
    options: [{ value: '2', label: '2' }, { value: '1', label: '1' }] },
  { kind: 'hidden', id: 'x', initial: 0.5, least: -1, most: 2 },
  { kind: 'hidden', id: 'y', initial: 0.5, least: -1, most: 2 },
  { kind: 'hidden', id: 'zoom', initial: 1, least: 0.2, most: 100000 },
  { kind: 'hidden', id: 'seed', initial: 1, least: 0, most: 2 ** 31 },
];
