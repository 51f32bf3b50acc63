// The theme without its fonts: a page loads nothing that its text does not need.
import './access.css';

export { default } from 'vitepress/theme-without-fonts';
