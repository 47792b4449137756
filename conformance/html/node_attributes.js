// Elements: attributes.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe } from './probe.js';
const text = `<div id=w title=T class="a b" lang=de data-x=1><p id=p>one <b id=b>two</b></p>tail<!-- c --><span id=s></span></div>`;
const $ = (selector) => parseHTML(text).find(selector);
const one = (selector) => $(selector).get(0);
export default function () {
  probe(
    () => one('#w').attributes(),
    () => Array.isArray(one('#w').attributes()),
    () => one('#w').attributes().title.value,
    () => one('#w').attributes().title.name,
    () => one('#w').attributes().title.localName(),
    () => one('#w').attributes().title.namespaceURI(),
    () => one('#w').attributes().title.prefix(),
    () => one('#w').attributes().title.owner_element,
    () => one('#w').attributes().title.ownerElement,
    () => one('#w').getAttribute('title'),
    () => one('#w').getAttribute('TITLE'),
    () => one('#w').getAttribute('none'),
    () => one('#w').getAttribute(),
    () => one('#w').getAttribute(null),
    () => one('#w').getAttribute(12),
    () => one('#w').getAttributeNode('title'),
    () => one('#w').getAttributeNode('title').value,
    () => one('#w').getAttributeNode('title').name,
    () => one('#w').getAttributeNode('title').owner_element,
    () => one('#w').getAttributeNode('none'),
    () => one('#w').getAttributeNode(),
    () => one('#w').hasAttribute('title'),
    () => one('#w').hasAttribute('none'),
    () => one('#w').hasAttribute(),
    () => one('#w').hasAttributes(),
    () => one('html').hasAttributes(),
    () => one('html').attributes(),
    () => parseHTML('<svg xlink:href=h xml:lang=de viewbox=1>').find('svg').get(0).attributes(),
    () => parseHTML('<svg xlink:href=h>').find('svg').get(0).getAttributeNode('xlink:href'),
    () => parseHTML('<svg xlink:href=h>').find('svg').get(0).getAttributeNode('href'),
    () => parseHTML('<svg xlink:href=h>').find('svg').get(0).getAttributeNode('href').namespaceURI(),
    () => parseHTML('<svg xlink:href=h>').find('svg').get(0).getAttributeNode('href').prefix(),
    () => parseHTML('<svg xlink:href=h>').find('svg').get(0).getAttributeNode('href').localName(),
    () => parseHTML('<svg xlink:href=h>').find('svg').get(0).getAttribute('href'),
    () => JSON.stringify(one('#w').getAttributeNode('title')),
  );
}
