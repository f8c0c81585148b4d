/** Why a query costs what it costs, and what would make it cheaper. */
import { count, short, units } from '../../lib/format.ts';
import type { Explain } from '../../lib/types.ts';
import { Bar } from '../../parts/sparkline.tsx';

const ACCESSES_MAX = 50;

export function ExplainPanel({
  explain,
  charge,
}: {
  readonly explain: Explain;
  readonly charge: number;
}) {
  const { fanOut, operators, hints, facts, accesses } = explain;
  const most = Math.max(0.01, ...operators.map(({ requestUnits }) => requestUnits));
  return (
    <aside class="card explain" aria-label="Explain">
      <h2>Explain</h2>
      <p>
        Read <strong>{count(fanOut.read)}</strong> of {count(fanOut.of)} partitions
        {fanOut.read > 1 ? ': it fans out' : ''}
      </p>
      <table class="plain">
        <thead>
          <tr>
            <th scope="col">Operator</th>
            <th scope="col" class="number">
              RU
            </th>
            <th scope="col">
              <span class="offscreen">Share</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {operators.map(({ name, detail, requestUnits }, at) => (
            <tr key={`${at} ${name}`}>
              <th scope="row">
                {short(name, 80)}
                <small class="below">{detail}</small>
              </th>
              <td class="number">{units(requestUnits)}</td>
              <td class="meter-cell">
                <Bar
                  share={requestUnits / most}
                  isHot={requestUnits > charge / 2 && operators.length > 1}
                  label={`${units(requestUnits)} of ${units(charge)} RU`}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {hints.map((hint) => (
        <p class="hint" key={hint}>
          {short(hint, 500)}
        </p>
      ))}
      <details>
        <summary>Access paths and figures</summary>
        <dl class="pairs">
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{short(value, 500)}</dd>
            </div>
          ))}
        </dl>
        <ul class="accesses">
          {accesses.slice(0, ACCESSES_MAX).map(({ partition, access }, at) => (
            <li key={at}>
              <code>p{partition}</code> {short(access, 300)}
            </li>
          ))}
        </ul>
      </details>
    </aside>
  );
}
