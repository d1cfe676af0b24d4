/**
 * Deals a hand of different cards out of a deck, from a number that is spread evenly: two flows share all of their
 * queues only by an unlikely chance, so a flow that floods its own leaves most others a free one.
 */
export const dealHand = (hash: number, deckSize: number, handSize: number): readonly number[] => {
  const remainders: number[] = [];
  let rest = hash;
  for (let at = 0; at < handSize; at += 1) {
    const left = deckSize - at;
    remainders.push(rest % left);
    rest = Math.floor(rest / left);
  }
  // A remainder counts among the cards that are left: pass over those that were dealt.
  return remainders.map((remainder, at) => {
    let card = remainder;
    for (let before = at - 1; before >= 0; before -= 1) if (card >= remainders[before]!) card += 1;
    return card;
  });
};
