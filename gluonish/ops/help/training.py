"""Arguments of random number operators and optimizer updates.

A line of operators, then descriptions of their arguments; indented lines continue the one above.
"""

TEXTS = """
adam_update _adamw_update _mp_adamw_update
  eta: Factor of the whole step, of weight decay too
lamb_update_phase1 mp_lamb_update_phase1
  wd: Weight decay: fraction of the weight added to the step
lamb_update_phase2 mp_lamb_update_phase2
  g: Step that phase 1 computed
  r1: Norm of the weight
  r2: Norm of the step
rmsprop_update rmspropalex_update
  n: Running mean of the squared gradient
  g: Running mean of the gradient
  delta: Last update
ftrl_update
  z: State of the optimizer: sum of the corrected gradients
  n: Sum of the squared gradients
  lamda1: Factor of the L1 penalty
  beta: Constant added to the denominator of the learning rate
ftml_update
  d: State of the optimizer
  v: Running mean of the squared gradient
  z: State of the optimizer
  clip_grad: Maximum absolute value of each gradient element; negative for no limit
signum_update
  wd_lh: Weight decay applied to the weight itself
  momentum: Momentum coefficient
_contrib_group_adagrad_update _sparse_adagrad_update
  history: Sum of the squared gradients
multi_lars
  lrs: Learning rates, (weights,)
  weights_sum_sq: Sum of each weight's squares
  grads_sum_sq: Sum of each gradient's squares
  wds: Weight decay of each weight
  eta: Trust coefficient: fraction of a weight's norm by which a step may change it
_random_gamma _random_gamma_like _sample_gamma
  alpha: Shape parameter of the distribution, above 0
  beta: Scale of the distribution, above 0
_random_negative_binomial _random_negative_binomial_like _sample_negative_binomial
  k: Number of successes to reach, above 0
  p: Probability of a success, in (0, 1]
_random_generalized_negative_binomial _random_generalized_negative_binomial_like
  alpha: Dispersion, above 0
_sample_uniform _sample_normal _sample_gamma _sample_exponential _sample_poisson
    _sample_negative_binomial _sample_generalized_negative_binomial
  shape: Shape of the samples drawn for each parameter
_sample_multinomial
  data: Probabilities (..., classes), which sum to 1
  shape: Shape of the samples drawn for each row
_sample_generalized_negative_binomial
  alpha: Dispersions, above 0
_shuffle
  data: Array whose rows (along the first axis) are shuffled
_npi_normal _npi_normal_n _npi_gumbel _npi_logistic
  input1: Means, or centers, of the distributions, if they are an array
  input2: Scales of the distributions, if they are an array
_npi_uniform _npi_uniform_n
  input1: Lower bounds, if they are an array
  input2: Upper bounds, if they are an array
_npi_gamma
  input1: Shape parameters, if they are an array
  input2: Scales, if they are an array
_npi_exponential _npi_rayleigh
  input1: Scales, if they are an array
_npi_pareto _npi_powerd _npi_weibull
  input1: Shape parameters, if they are an array
  a: Shape parameter of the distribution, above 0
_npi_bernoulli
  input1: prob or logit, if it is an array
_draw_gamma
  alpha: Shape parameters, above 0
_draw_poisson
  lam: Means, of at least 0
_draw_binomial
  n: Numbers of trials
  p: Probabilities of success
_draw_negative_binomial
  n: Numbers of successes, above 0
  p: Probabilities of success
_npi_choice
  input1: Values to draw from, or the probabilities
  input2: The probabilities
  weighted: Whether probabilities are given
_npi_multinomial
  n: Number of trials
  pvals: Probabilities of the classes
_random_pdf_gamma
  alpha: Shape parameters of the distributions, above 0
  beta: Rates of the distributions, above 0
_random_pdf_dirichlet
  alpha: Concentrations (..., classes), above 0
_random_pdf_generalized_negative_binomial
  alpha: Dispersions of the distributions, above 0
_random_pdf_negative_binomial
  p: Probabilities of a success, in (0, 1]
_sample_unique_zipfian
  range_max: Number of classes
_multi_lamb_update _multi_mp_lamb_update
  step_count: Number of the step of each weight, from 1
  num_tensors: Number of weights; ignored, the arrays are counted
_npi_bernoulli
  prob: Probability of a 1
  logit: Log-odds of a 1, instead of prob
_npi_choice
  a: Draw from 0 to a - 1, if no array is given
  replace: Whether a number may be drawn more than once
"""
