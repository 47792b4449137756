const value = await Promise.resolve('awaited');
export { value };
