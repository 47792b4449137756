// A page of a few elements that selections are tried on.
import { parseHTML } from 'k6/html';
export const text = '<div id=top class="a b"><p id=p1 class=one>one</p>text<p id=p2 class="two x">two <b id=b1>bold</b></p><!-- note --><p id=p3>three</p><ul id=u><li id=l1>1</li><li id=l2 class=x>2</li><li id=l3>3</li><li id=l4>4</li></ul></div><div id=bottom><p id=p4>four</p></div>';
export const page = () => parseHTML(text);
export const $ = (selector) => page().find(selector);
