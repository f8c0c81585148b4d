/** The entry of the page. */
import { render } from 'preact';
import { App } from './app.tsx';
import './lib/keyboard.ts';
import './lib/theme.ts';
import './styles/tokens.css';
import './styles/layout.css';
import './styles/parts.css';
import './styles/pictures.css';

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
