'use strict';
const events = new EventSource('events');
const text = (id, value) => { document.getElementById(id).textContent = value; };
events.addEventListener('state', (event) => {
  const state = JSON.parse(event.data);
  text('state', `${state.phase}: ${state.vusActive} VUs, ${state.iterations} iterations`);
  const rows = state.scenarios.map((scenario) => {
    const row = document.createElement('tr');
    for (const value of [scenario.name, `${scenario.vus} VUs`, `${scenario.iterations} iterations`]) {
      row.appendChild(document.createElement('td')).textContent = value;
    }
    return row;
  });
  document.getElementById('scenarios').replaceChildren(...rows);
});
events.addEventListener('end', (event) => {
  const end = JSON.parse(event.data);
  events.close();
  text('state', `The run is over: exit code ${end.exitCode}`);
});
